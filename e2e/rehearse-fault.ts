import { setTimeout as delay } from 'node:timers/promises'
import { parseScenario } from '../src/simulator/scenario/scenario.ts'
import { eventually } from '../test/support/eventually.ts'
import { type Alerting, type Notice, startAlerting } from './alerting.ts'
import { type FAULTS, FAULT_S } from './faults.ts'
import { startNode } from './rehearsed-node.ts'

/** How long we wait for the webhook. */
const PATIENCE_MS = 300_000
/** How long for the end of it: an increase is seen for as long as its window, ten minutes at most. */
const WINDOW_MS = 720_000

export interface Row {
  readonly fault: string
  readonly alert: string
  /** Seconds from the fault, or from its end, to the webhook; undefined where it never came. */
  readonly fired: number | undefined
  readonly resolved: number | undefined
}

/** Undefined where it never came. */
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

/** One fault, from its beginning to the webhook, and from its end to the webhook. */
export const rehearseFault = async (of: (typeof FAULTS)[number]): Promise<Row> => {
  const { fault, alert, severity, lines, mended, lastsS, disk } = of
  const endS = FAULT_S + lastsS
  const text = [
    ...lines.map((line) => `${FAULT_S}s ${line}`),
    ...mended.map((line) => `${endS}s ${line}`),
  ].join('\n')
  const node = await startNode(parseScenario(fault, text), disk)
  const alerting = await startAlerting([`127.0.0.1:${node.agent.port}`])
  const is = (status: Notice['status']) => (notice: Notice) =>
    notice.alert === alert && notice.severity === severity && notice.status === status
  try {
    await delay(node.beganAt + FAULT_S * 1000 - Date.now())
    const early = alerting.notices().filter(is('firing'))
    const fired = await waitFor(alerting, is('firing'))
    // Under load a scrape may miss a reading in between: what counts is the end after the fault's end.
    const isOver = (notice: Notice): boolean =>
      is('resolved')(notice) && notice.at >= node.beganAt + endS * 1000
    const resolved = fired && (await waitFor(alerting, isOver, WINDOW_MS))
    const since = (notice: Notice | undefined, second: number): number | undefined =>
      notice && notice.at / 1000 - node.beganAt / 1000 - second
    return {
      fault,
      alert,
      fired: early.length > 0 ? undefined : since(fired, FAULT_S),
      resolved: since(resolved, endS),
    }
  } finally {
    await alerting.close()
    await node.close()
  }
}
