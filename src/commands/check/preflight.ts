import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { withDeadline } from '../../core/collector.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { createAccess } from '../../sources/permissions.ts'
import { createExec } from '../../sources/exec.ts'
import { createHttpClient } from '../../sources/http.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { Finding } from '../../health/finding.ts'
import type { Picture } from '../../health/picture.ts'
import { agent } from './preflight/agent.ts'
import { database } from './preflight/database.ts'
import { dropIns } from './preflight/drop-ins.ts'
import { journalGroup } from './preflight/journal-group.ts'
import { references } from './preflight/references.ts'
import { state } from './preflight/state.ts'
import { finding, type Look, type Visit } from './preflight/visit.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** What the node says already: what stands there is not said again. */
  readonly picture: Picture
}

const LOOKS: readonly Look[] = [agent, journalGroup, database, dropIns, references, state]

/** What is to be said of the host beside what the metrics tell. Nothing is written. */
export const preflight = async (options: Options): Promise<readonly Finding[]> => {
  const { config, clock, path, signal, picture } = options
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock) } = options
  const access = createAccess()
  const visit = { config, clock, signal, picture, exec, ask, access, files: keyFiles }
  try {
    return (await Promise.all(LOOKS.map((one) => attempt(one, visit)))).flat()
  } finally {
    exec.killAll()
  }
}

/** A directory of users on the network, or a systemd that is busy, answers within this or not at all. */
const PATIENCE_MS = 10 * second

/** What could not be looked at is said, and hinders none of the others. */
const attempt = async ({ at, look }: Look, visit: Visit): Promise<readonly Finding[]> => {
  try {
    return await withDeadline(visit, PATIENCE_MS, ({ signal }) => look({ ...visit, signal }))
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof ParseError)) throw error
    return [
      finding('preflight', 'info', {
        says: `${at} could not be looked at`,
        evidence: [error.summary],
      }),
    ]
  }
}
