import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import { enableAdvice } from '../../core/package.ts'
import { definition, KEY_STATES } from './definition.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { inSeconds } from '../../core/units.ts'
import { chooseExaminer, type KeyFile } from './files.ts'
import type { Uses } from '../dependencies.ts'

const ADVICE = `run ${enableAdvice('chain-agent-keys.timer')} and set keys.reportFile; or set keys.enabled to false`

type KeysUses = Uses<'keyFiles' | 'keyFolders' | 'readKeyReport' | 'readPrefix'>

/** The node's keystores, their password, and the backups of all three: present, intact, readable only by their owner. */
export const keys = (uses: KeysUses): Collector<readonly KeyFile[]> => {
  const { timing } = uses
  const examine = chooseExaminer(uses)
  return {
    ...metadataOf(definition, timing),
    run: poll(timing, async ({ signal }) => {
      const files = await examine(signal)
      if (files.some(({ state }) => state !== null)) return files
      throw new SourceError({
        doing: "check the node's key files",
        happened: `none can be accessed: ${files[0]?.why ?? 'unknown'}`,
        advice: ADVICE,
      })
    }),
    samples: (files) => files.flatMap(samplesOf),
    states: (files) => ({
      'key files': files.every(({ state }) => state !== null)
        ? 'all are accessible'
        : `not all are accessible; ${ADVICE}`,
      ...Object.fromEntries(files.map((file) => [subjectOf(file), stateText(file)])),
    }),
  }
}

const samplesOf = ({ key, kind, state, writtenAt, copies }: KeyFile): readonly Sample[] => [
  ...KEY_STATES.filter((value) => state !== null && (kind === 'backup' || value !== 'off_node')).map((value) =>
    sample('chain_key_file_state', value === state, { key, kind, state: value }),
  ),
  ...sampleIfKnown('chain_key_backup_timestamp_seconds', inSeconds(writtenAt), { key }),
  ...sampleIfKnown('chain_key_backup_copies', copies, { key }),
]

const subjectOf = ({ key, kind }: KeyFile): string =>
  key === 'password' && kind === 'keystore' ? 'environment file' : `${key} ${kind}`

const stateText = ({ state, why }: KeyFile): string => {
  const name = state ?? 'unknown'
  return why === null ? name : `${name}: ${why}`
}
