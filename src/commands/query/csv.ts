/** A line as RFC 4180 has it, but for its end: what reads CSV on Unix wants no carriage return. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\n`

const cell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
