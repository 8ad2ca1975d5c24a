/** The value, as the type of what may take its place later: the type argument, not that of the value alone. */
export const widen = <T>(value: T): T => value
