import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import { definition, KEY_STATES } from './definition.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import type { ExamineKeys, KeyFile } from './files.ts'
import type { OfferCollector } from '../dependencies.ts'
import { chooseExaminer } from './report.ts'

interface Parts {
  /** Looks itself, or reads what a privileged unit has seen. */
  readonly examine: ExamineKeys
  readonly timing: Timing
}

const ADVICE =
  'let chain-agent-keys.timer of deploy/ look, and set keys.reportFile; or set keys.enabled to false'

/** The node's keystores, its password, and the backups of all three: whether they are there, whole and private. */
export const keys = ({ examine, timing }: Parts): Collector<readonly KeyFile[]> => ({
  name: definition.name,
  help: definition.help,
  timing,
  run: poll(timing, async ({ signal }) => {
    const files = await examine(signal)
    if (files.some(({ state }) => state !== null)) return files
    throw new SourceError({
      doing: "look at the node's key files",
      happened: `of none it can be seen whether it is there: ${files[0]?.why ?? 'none is known'}`,
      advice: ADVICE,
    })
  }),
  samples: (files) => files.flatMap(samplesOf),
  states: (files) => ({
    'key files': files.every(({ state }) => state !== null)
      ? 'all can be looked at'
      : `not all can be looked at; ${ADVICE}`,
    ...Object.fromEntries(files.map((file) => [subjectOf(file), stateInWords(file)])),
  }),
})

const samplesOf = ({ key, kind, state, writtenAt, copies }: KeyFile): readonly Sample[] => [
  ...(state === null
    ? []
    : KEY_STATES.map((one) =>
        sample('chain_key_file_state', Number(one === state), { key, kind, state: one }),
      )),
  ...sampleIfKnown(
    'chain_key_backup_timestamp_seconds',
    writtenAt === null ? null : writtenAt / 1000,
    { key },
  ),
  ...sampleIfKnown('chain_key_backup_copies', copies, { key }),
]

const subjectOf = ({ key, kind }: KeyFile): string =>
  key === 'password' && kind === 'keystore' ? 'environment file' : `${key} ${kind}`

const stateInWords = ({ state, why }: KeyFile): string => {
  const word = state ?? 'unknown'
  return why === null ? word : `${word}: ${why}`
}

export const offer: OfferCollector = (dependencies) => {
  const { publicKey: _, ...places } = dependencies.config.node
  return {
    uses: [dependencies.readPrefix, places],
    create: (timing) => keys({ examine: chooseExaminer({ ...dependencies, places }), timing }),
  }
}
