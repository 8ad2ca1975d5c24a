import type { Exposition } from '../support/scrape.ts'

/** `name{label=value,…}` → the exported value, or undefined. */
export const read = ({ value }: Exposition, series: string): number | undefined => {
  const [, name = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(series) ?? []
  const pairs = labels === '' ? [] : labels.split(',')
  return value(
    name,
    Object.fromEntries(
      pairs.map((pair): [string, string] => {
        const at = pair.indexOf('=')
        return [pair.slice(0, at), pair.slice(at + 1)]
      }),
    ),
  )
}
/** The series that are absent. */
export const missing = (seen: Exposition, series: readonly string[]): readonly string[] =>
  series.filter((one) => read(seen, one) === undefined)

/** The differences from the expected values, as text. */
export const unlike = (seen: Exposition, expected: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(expected)
    .filter(([series, value]) => read(seen, series) !== value)
    .map(([series, value]) => `${series} is ${read(seen, series)}, not ${value}`)
