import type { Config } from '../../config/schema.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type Io, UsageError } from '../../terminal/io.ts'
import { withDialogue } from '../../terminal/prompt.ts'

type Reference = Config['references'][number]

/** What an operator answers: URLs. */
export interface Answers {
  readonly references: readonly string[]
  readonly alertmanagers: readonly string[]
}

/** The same as settings. */
interface Known {
  readonly references: readonly Reference[]
  readonly alertmanagers: readonly string[]
}

export const knownOf = ({ references, alertmanagers }: Config): Known => ({
  references,
  alertmanagers: alertmanagers.urls,
})

/** Throws a UsageError for an answer that is no URL. */
export const checkUrls = ({ references, alertmanagers }: Answers): void => {
  const check = (option: string, example: string) => (url: string) => {
    if (!isUrl(url)) throw new UsageError(`${option} ${url}: expected a URL, like ${example}`)
  }
  references.forEach(check('--reference', REFERENCE))
  alertmanagers.forEach(check('--alertmanager', ALERTMANAGER))
}

const REFERENCE = 'https://rpc.provider.example'
const ALERTMANAGER = 'http://127.0.0.1:9093'

const isUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text)

/** Asks for what is not known. Null if the operator has interrupted it. */
export const askFor = async (io: Io, known: Known): Promise<Answers | null> =>
  withDialogue(io, async (ask) => {
    const askUrls = async (label: string, example: string): Promise<readonly string[] | null> => {
      const urls: string[] = []
      for (;;) {
        const url = await ask(`${label} ${urls.length + 1}: `)
        if (url === null) return null
        if (url === '') return urls
        if (isUrl(url)) urls.push(url)
        else io.stderr.write(`Expected a URL, like ${example}\n`)
      }
    }
    const hasReferences = known.references.length >= 2
    if (!hasReferences) io.stderr.write(ASK_REFERENCES)
    const references = hasReferences ? [] : await askUrls('Reference', REFERENCE)
    if (references === null) return null
    const hasReceiver = known.alertmanagers.length > 0
    if (!hasReceiver) io.stderr.write(ASK_ALERTMANAGERS)
    const alertmanagers = hasReceiver ? [] : await askUrls('Alertmanager', ALERTMANAGER)
    return alertmanagers && { references, alertmanagers }
  })

const ASK_REFERENCES =
  'RPC URLs of other nodes of the same chain, at least two so that they can agree; an empty line ends.\n'
const ASK_ALERTMANAGERS = 'URLs of the Alertmanagers to which the agent sends its alerts; an empty line ends.\n'

/**
 * The options with the union of what is known and answered: all references are read once, so that the result shows
 * which of them answer.
 */
export const withAnswers = <Options extends ConfigOptions>(
  options: Options,
  known: readonly Known[],
  answers: Answers,
): Options => {
  const references = unite([
    ...known.flatMap((one) => one.references),
    ...answers.references.map((url) => ({ name: nameOf(url), url, kind: 'rpc' as const, apiKeyFile: null })),
  ])
  const urls = [...known.flatMap((one) => one.alertmanagers), ...answers.alertmanagers]
  const alertmanagers = urls.filter((url, at) => urls.findIndex((other) => isSameUrl(url, other)) === at)
  return {
    ...options,
    set: [
      ...options.set,
      ...(references.length === 0 ? [] : [`references=${JSON.stringify(references.map(entryOf))}`]),
      ...(alertmanagers.length === 0 ? [] : [`alertmanagers.urls=${JSON.stringify(alertmanagers)}`]),
    ],
  }
}

/** The references as a file has them. */
export const entryOf = ({ name, url, kind, apiKeyFile }: Reference) => ({
  name,
  url,
  ...(kind !== 'rpc' && { kind }),
  ...(apiKeyFile !== null && { apiKeyFile }),
})

const isSameUrl = (url: string, other: string): boolean => new URL(url).href === new URL(other).href

const isSame = (one: Reference, other: Reference): boolean => one.kind === other.kind && isSameUrl(one.url, other.url)

/** What is wanted and not present. */
export const missingOf = (wanted: Known, present: Known): Known => ({
  references: wanted.references.filter((one) => !present.references.some((other) => isSame(one, other))),
  alertmanagers: wanted.alertmanagers.filter((url) => !present.alertmanagers.some((other) => isSameUrl(url, other))),
})

/** Each reference once. A second one of the same name gets a number. */
const unite = (references: readonly Reference[]): readonly Reference[] => {
  const united: Reference[] = []
  for (const reference of references) {
    if (united.some((one) => isSame(one, reference))) continue
    const names = united.map(({ name }) => name)
    let name = reference.name
    for (let number = 2; names.includes(name); number += 1) name = `${reference.name}-${number}`
    united.push({ ...reference, name })
  }
  return united
}

/** The name of the host, in the characters that a name may have. */
const nameOf = (url: string): string =>
  new URL(url).hostname.replaceAll(/[^a-z\d.]+/gi, '-').replaceAll(/^-+|-+$/g, '') || 'reference'
