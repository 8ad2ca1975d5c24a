import { linkAbort, withDeadline } from '../../core/clock.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import type { Finding } from '../../health/finding.ts'
import { agent, exposure, ownKey, references } from './preflight/network.ts'
import { consensusUnit, database, nodeArguments, packageHold, state } from './preflight/host.ts'
import { affinity, databaseDrive, hugePages } from './preflight/hardware.ts'
import {
  createContext,
  finding,
  type PreflightCheck,
  type PreflightContext,
  type PreflightOptions,
} from './preflight/context.ts'

const CHECKS: readonly PreflightCheck[] = [
  agent,
  exposure,
  database,
  nodeArguments,
  consensusUnit,
  packageHold,
  databaseDrive,
  hugePages,
  affinity,
  references,
  ownKey,
  state,
]

/** Those of a host without a node. */
const CHECKS_OF_WATCHER: readonly PreflightCheck[] = [agent, exposure, references, state]

/** Findings about the host and the agent that neither a metric nor the snapshot shows. Reads only. */
export const preflight = async (options: PreflightOptions): Promise<readonly Finding[]> => {
  // Each check adds a listener: on the signal of the command Node.js would warn about them.
  const { signal, abort } = linkAbort(options.signal)
  const context = createContext({ ...options, signal })
  try {
    const checks = options.config.profile === 'watcher' ? CHECKS_OF_WATCHER : CHECKS
    return (await Promise.all(checks.map((one) => attempt(one, context)))).flat()
  } finally {
    abort()
    context.exec.killAll()
  }
}

/** Deadline of one check: a user directory on the network or a busy systemd may be slow. */
const TIMEOUT_MS = 10 * second

/** Runs one check. A failure becomes a finding and does not affect the other checks. */
const attempt = ({ name, run }: PreflightCheck, context: PreflightContext): Promise<readonly Finding[]> =>
  withDeadline(context, TIMEOUT_MS, async ({ signal }) => run({ ...context, signal })).catch(
    ifUnreadable(({ summary }) =>
      finding('preflight', 'info', { summary: `${name} could not be checked`, evidence: [summary] }),
    ),
  )
