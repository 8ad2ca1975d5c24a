import { setTimeout as delay } from 'node:timers/promises'
import { parseScenario } from '../simulator/scenario/scenario.ts'
import { eventually } from '../test/support/eventually.ts'
import { type Alerting, type Notice, startAlerting } from './alerting.ts'
import { type FAULTS, FAULT_S } from './faults.ts'
import { startNode } from './simulated-node.ts'

/** Timeout for the webhook. */
const PATIENCE_MS = 300_000
/** Timeout for the resolved notice: an increase lasts as long as its window, at most ten minutes. */
const WINDOW_MS = 720_000

export interface Row {
  readonly fault: string
  readonly alert: string
  /** Seconds from the fault, or from its end, to the webhook; undefined if it never arrived. */
  readonly fired: number | undefined
  readonly resolved: number | undefined
}

/** Undefined if it never arrived. */
export const waitFor = async (
  alerting: Alerting,
  wanted: (notice: Notice) => boolean,
  within = PATIENCE_MS,
): Promise<Notice | undefined> =>
  eventually(
    () => alerting.notices().find(wanted),
    (notice) => notice !== undefined,
    { within },
  ).catch(() => undefined)

/** Runs one fault: measures the time from its start, and from its end, to the webhook. */
export const runFault = async (of: (typeof FAULTS)[number]): Promise<Row> => {
  const { fault, alert, severity, lines, fixes, lastsS, disk, role } = of
  const endS = FAULT_S + lastsS
  const text = [...lines.map((line) => `${FAULT_S}s ${line}`), ...fixes.map((line) => `${endS}s ${line}`)].join('\n')
  const alerting = await startAlerting([])
  const node = await startNode(parseScenario(fault, text), disk, { health: { role } })
  await alerting.scrape([`127.0.0.1:${node.agent.port}`])
  const is = (status: Notice['status']) => (notice: Notice) =>
    notice.alert === alert && notice.severity === severity && notice.status === status
  try {
    await delay(node.beganAt + FAULT_S * 1000 - Date.now())
    const fired = await waitFor(alerting, is('firing'))
    // Under load a reading may be missing for a while, in which the alert resolves, even until after the end of the fault.
    const endsAt = node.beganAt + endS * 1000
    const resolved =
      fired &&
      (await eventually(
        () => alerting.notices().findLast((notice) => notice.alert === alert && notice.severity === severity),
        (last) => last?.status === 'resolved' && Date.now() >= endsAt,
        { within: WINDOW_MS },
      ).catch(() => undefined))
    const isEarly = fired !== undefined && fired.at < node.beganAt + FAULT_S * 1000
    const since = (notice: Notice | undefined, second: number): number | undefined =>
      notice && notice.at / 1000 - node.beganAt / 1000 - second
    return {
      fault,
      alert,
      fired: isEarly ? undefined : since(fired, FAULT_S),
      resolved: resolved && Math.max(0, (resolved.at - endsAt) / 1000),
    }
  } finally {
    await alerting.close()
    await node.close()
  }
}
