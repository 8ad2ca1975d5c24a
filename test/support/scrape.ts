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
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return parseExposition(await response.text())
}

interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Text exposition format 0.0.4, strictly: a line that is not understood throws. Prometheus reads `Nan` too, as
 * prom-client writes it.
 */
export const parseExposition = (text: string): Exposition => {
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseLine)
  return {
    text,
    value: (name, labels = {}) => {
      const found = series.filter(
        (one) => one.name === name && Object.entries(labels).every(([key, v]) => one.labels[key] === v),
      )
      if (found.length > 1) {
        throw new Error(`${found.length} series fit ${name}${JSON.stringify(labels)}; name more labels`)
      }
      return found[0]?.value
    },
  }
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"/
const LINE = new RegExp(`^([a-zA-Z_:][\\w:]*)(?:\\{((?:${LABEL.source},?)*)\\})? ([-+]?(?:\\d\\S*|Inf|Na[Nn]))$`)

const parseLine = (line: string): Series => {
  const [, name, labels = '', , , value] = LINE.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Error(`not exposition text: ${line}`)
  return {
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(new RegExp(LABEL, 'g'))].map(([, key = '', text = '']) => [key, unescape(text)]),
    ),
    value: Number(value.replace('Inf', 'Infinity')),
  }
}

const unescape = (text: string): string =>
  text.replaceAll(/\\([\\"n])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
