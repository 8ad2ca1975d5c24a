import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import { summaryOf } from '../core/errors.ts'
import { fillFolders } from '../core/key-places.ts'
import { asError } from '../core/outcome.ts'
import type { Kit } from '../keys/kit.ts'
import { createExec, type Exec } from '../sources/exec.ts'
import { createKeystoreTool } from '../sources/keystore-tool.ts'
import { withFoldersLocked } from '../sources/lock.ts'
import { createPatientExec } from '../sources/patient-exec.ts'
import { createPrefix } from '../sources/prefix.ts'
import { isProcessListOpen } from '../sources/process-list.ts'
import { folderOfRoot, leaveNoCore, runMark, withPrivateUmask } from '../sources/process-guards.ts'
import { secretFiles } from '../sources/secret-files.ts'
import type { StandIns } from './stand-ins.ts'

interface Options extends StandIns {
  readonly config: Pick<Config, 'prefix' | 'node'>
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  readonly say: (doing: string) => void
}

/** What the commands on keys work with. */
export interface KeyDesk {
  readonly kit: Kit
  /** Whether other users can read password and secret in the process list while the tool runs. */
  readonly isListOpen: boolean | null
  /** Why a crash could leave key material in a core dump; null where it cannot. */
  readonly coreTrouble: string | null
  /** How systemd says that the consensus service is. */
  consensusState(): Promise<UnitState>
}

interface UnitState {
  readonly unit: string
  /** As systemd has it: `active`, `inactive`; null where it does not say. */
  readonly state: string | null
  readonly whyUnknown: string
}

/** Opens the desk, guards the process, and closes both when the work is done. */
export const atKeyDesk = async <T>(
  { config, clock, path, signal, say, exec: standIn }: Options,
  work: (desk: KeyDesk) => Promise<T>,
): Promise<T> => {
  const exec = standIn ?? createExec({ clock, path })
  try {
    return await withPrivateUmask(async () => {
      const patient = createPatientExec(exec, clock)
      const { word } = await createPrefix({ exec: patient, path, configured: config.prefix })(
        signal,
      )
      const folders = fillFolders(config.node, word)
      const desk: KeyDesk = {
        kit: {
          files: secretFiles,
          tool: createKeystoreTool({ exec, clock, command: `${word}-keystore` }),
          folders,
          now: () => clock.now(),
          say,
          mark: runMark(),
          ownFolder: folderOfRoot(),
        },
        isListOpen: await isProcessListOpen(),
        // A simulated tool is no process.
        coreTrouble: standIn ? null : await leaveNoCore(patient, signal),
        consensusState: () => askState(patient, `${word}-bft.service`, signal),
      }
      return withFoldersLocked([folders.directory, folders.backupDirectory], () => work(desk))
    })
  } finally {
    exec.killAll()
  }
}

const askState = async (exec: Exec, unit: string, signal: AbortSignal): Promise<UnitState> => {
  const args = ['show', '--property=ActiveState', unit]
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const [, state = null] = /^ActiveState=(\S+)/m.exec(stdout) ?? []
    return { unit, state, whyUnknown: 'systemctl printed no ActiveState' }
  } catch (error) {
    signal.throwIfAborted()
    return { unit, state: null, whyUnknown: summaryOf(asError(error)) }
  }
}
