import { parsePrometheusText } from '../../src/parsers/prometheus-text.ts'
import { NotYetError } from './eventually.ts'

/** One look at /metrics. */
export interface Exposition {
  readonly text: string
  /**
   * The value of the one series that carries these labels (it may have others); undefined where there is none. Two that
   * fit are a mistake of the test: it throws.
   */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

export const scrape = async (url: string): Promise<Exposition> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(120_000) })
  if (!response.ok) throw new NotYetError(`${url} answered ${response.status}`)
  return parseExposition(await response.text())
}

/** Every line must be understood. */
export const parseExposition = (text: string): Exposition => {
  const { samples, firstUnknown } = parsePrometheusText(text)
  if (firstUnknown !== null) throw new Error(`not exposition text: ${firstUnknown}`)
  return {
    text,
    value: (name, labels = {}) => {
      const found = samples.filter(
        (one) => one.name === name && Object.entries(labels).every(([key, v]) => one.labels[key] === v),
      )
      if (found.length > 1) {
        throw new Error(`${found.length} series fit ${name}${JSON.stringify(labels)}; name more labels`)
      }
      return found[0]?.value
    },
  }
}
