import { linkAbort, withDeadline } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { createAccess } from '../../sources/process.ts'
import { createExec } from '../../sources/exec.ts'
import { createHttpClient } from '../../sources/http.ts'
import { createFileTree } from '../../sources/file-tree.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { Finding } from '../../health/finding.ts'
import { agent, exposure, ownKey, references } from './preflight/network.ts'
import { consensusUnit, database, dropIns, journalGroup, nodeArguments, packageHold, state } from './preflight/host.ts'
import { affinity, databaseDrive, driveModels, hugePages } from './preflight/hardware.ts'
import { renamedNames } from './preflight/renamed.ts'
import { finding, type PreflightCheck, type PreflightContext } from './preflight/context.ts'
import type { SourceContext } from '../../terminal/io.ts'

const CHECKS: readonly PreflightCheck[] = [
  agent,
  exposure,
  journalGroup,
  database,
  dropIns,
  nodeArguments,
  consensusUnit,
  packageHold,
  databaseDrive,
  driveModels,
  hugePages,
  affinity,
  references,
  ownKey,
  renamedNames,
  state,
]

/** Those of a host without a node. */
const CHECKS_OF_WATCHER: readonly PreflightCheck[] = [agent, exposure, references, renamedNames, state]

/** Findings about the host and the agent that neither a metric nor the snapshot shows. Reads only. */
export const preflight = async (
  options: SourceContext & Pick<PreflightContext, 'config' | 'snapshot'>,
): Promise<readonly Finding[]> => {
  const { config, clock, path, snapshot } = options
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock) } = options
  const access = createAccess()
  // Each check adds a listener: on the signal of the command Node.js would warn about them.
  const { signal, abort } = linkAbort(options.signal)
  const [procfs, sysfs] = [createFileTree(config.host.procfs), createFileTree(config.host.sysfs)]
  const context = { config, clock, signal, snapshot, exec, ask, access, procfs, sysfs, files: keyFiles }
  try {
    const checks = config.profile === 'watcher' ? CHECKS_OF_WATCHER : CHECKS
    return (await Promise.all(checks.map((one) => attempt(one, context)))).flat()
  } finally {
    abort()
    exec.killAll()
  }
}

/** Deadline of one check: a user directory on the network or a busy systemd may be slow. */
const TIMEOUT_MS = 10 * second

/** Runs one check. A failure becomes a finding and does not affect the other checks. */
const attempt = async ({ name, run }: PreflightCheck, context: PreflightContext): Promise<readonly Finding[]> => {
  try {
    return await withDeadline(context, TIMEOUT_MS, async ({ signal }) => run({ ...context, signal }))
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof ParseError)) throw error
    return finding('preflight', 'info', { summary: `${name} could not be checked`, evidence: [error.summary] })
  }
}
