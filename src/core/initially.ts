/** The first value of what may have another one of this type later. */
export const initially = <T>(value: T): T => value
