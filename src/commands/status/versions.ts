import type { z } from 'zod'
import type { Tone } from '../../cli/terminal/style.ts'
import { type Fact, fact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { recordOf, nullableFlag, listOf, lenientObject, timestamp, nullableText } from './reading-schema.ts'
import { relativeTime, iso, utc } from './format.ts'

const schema = lenientObject({
  programs: recordOf(
    lenientObject({
      value: lenientObject({
        program: nullableText,
        version: nullableText,
        tag: nullableText,
        commit: nullableText,
        branch: nullableText,
      }),
      error: nullableText,
    }),
  ),
  package: lenientObject({
    value: lenientObject({ package: nullableText, version: nullableText }),
    error: nullableText,
  }),
  installed: nullableText,
  running: listOf(lenientObject({ source: nullableText, version: nullableText })),
  mismatch: nullableFlag,
  forks: listOf(
    lenientObject({
      fork: lenientObject({
        name: nullableText,
        kind: nullableText,
        activationAt: timestamp,
        minimumVersion: nullableText,
      }),
      checks: listOf(lenientObject({ check: nullableText, ready: nullableFlag })),
    }),
  ),
})

const versionIn = (view: View) => view.reading('version', schema)

type Readiness = z.output<typeof schema>['forks'][number]

/** Null where it cannot be reading of something that the fork asks for. */
const isReady = ({ checks }: Readiness): boolean | null =>
  checks.some(({ ready }) => ready === false) ? false : checks.every(({ ready }) => ready === true) ? true : null

const inWords = ({ checks }: Readiness): string => {
  const named = (is: boolean | null): string =>
    checks
      .filter(({ ready }) => ready === is)
      .map(({ check }) => check)
      .join(' and ')
  const [lacking, open] = [named(false), named(null)]
  const parts = [lacking && `NOT ready: ${lacking}`, open && `unknown: ${open}`]
  return joined(parts, '; ') ?? 'ready'
}

const toneOf = (readiness: Readiness): Tone | undefined => {
  const ready = isReady(readiness)
  return ready === true ? undefined : ready === false ? 'bad' : 'unknown'
}

const RUNS: Readonly<Record<string, string>> = { rpc: 'the RPC', native: 'consensus' }

export const versions: Section = {
  name: 'versions',
  aliases: ['version', 'forks'],
  groups: [
    {
      collector: 'version',
      source: 'the package, the programs, the running services',
      facts: (view) => {
        const reading = versionIn(view)
        const { package: name, version } = reading.package.value
        return [
          fact('installed', reading.installed),
          fact('package', version === null ? null : { package: name, version }, {
            text: () => `${name ?? ''} ${version ?? ''}`,
            unknownReason: reading.package.error ?? undefined,
          }),
          ...Object.entries(reading.programs).map(([program, { value, error }]) =>
            fact(['programs', program], value.version === null ? null : value, {
              label: `program ${value.program ?? program}`,
              text: () => joined([value.version, value.tag, commitOf(value.commit)]) ?? '',
              unknownReason: error ?? undefined,
            }),
          ),
          ...runningFacts(view),
          fact('restartPending', reading.mismatch, {
            text: (isPending) => (isPending ? 'yes: the running version differs from the installed one' : 'no'),
            tone: (isPending) => (isPending ? 'notice' : undefined),
          }),
          ...reading.forks.map((one) => forkFact(one, view)),
        ]
      },
    },
  ],
  summary: (view) => {
    const { installed, running, mismatch, forks } = versionIn(view)
    if (installed === null && running.length === 0 && forks.length === 0) return null
    const unready = forks.filter((one) => isReady(one) !== true)
    const next = forks.filter(({ fork }) => (fork.activationAt ?? 0) > view.at)
    const shown = unready.length > 0 ? unready : next
    const tones: readonly (Tone | undefined)[] = [...unready.map(toneOf), mismatch === true ? 'notice' : undefined]
    return summary(
      joined([
        installed === null ? null : `${installed} installed`,
        mismatch === true ? 'another version is running: restart pending' : null,
        ...shown.map(
          (one) => `${one.fork.kind ?? 'fork'} ${one.fork.name ?? ''} ${timeUntil(one, view)}: ${inWords(one)}`,
        ),
      ]),
      tones.includes('bad') ? 'bad' : tones.find((tone) => tone !== undefined),
    )
  },
}

const commitOf = (commit: string | null): string | null =>
  commit === null || commit === '' ? null : `commit ${commit.slice(0, 12)}`

const runningFacts = (view: View): readonly Fact[] => {
  const { running } = versionIn(view)
  if (running.length === 0) return [fact('running', null)]
  return running.map(({ source, version }) =>
    fact(['running', source ?? ''], version, { label: `${RUNS[source ?? ''] ?? source} runs` }),
  )
}

const timeUntil = ({ fork }: Readiness, view: View): string =>
  fork.activationAt === null ? '' : relativeTime(fork.activationAt, view.at)

const forkFact = (readiness: Readiness, view: View): Fact => {
  const { name, kind, activationAt, minimumVersion } = readiness.fork
  return fact(
    ['forks', name ?? ''],
    {
      kind,
      activationAt: iso(activationAt),
      minimumVersion,
      ready: isReady(readiness),
      checks: Object.fromEntries(readiness.checks.map(({ check, ready }) => [check ?? '', ready])),
    },
    {
      label: `${kind ?? 'fork'} ${name ?? ''}`,
      text: () =>
        joined([
          inWords(readiness),
          activationAt === null ? null : `${utc(activationAt)} (${timeUntil(readiness, view)})`,
          minimumVersion === null ? null : `needs ${minimumVersion}`,
        ]) ?? '',
      tone: () => toneOf(readiness),
    },
  )
}
