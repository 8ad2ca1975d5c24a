import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

export interface Asked {
  /** The title, and the letter of the target. */
  readonly panel: string
  readonly target?: string | undefined
}

/** The expression of a panel of the fleet dashboard, for all nodes and a range in seconds. */
export const panelExpression = async (asked: Asked, seconds: number): Promise<string> => {
  const { panel: title, target: refId = 'A' } = asked
  const file = join(import.meta.dirname, '../dashboards/fleet.json')
  const dashboard = z.object({ panels }).parse(JSON.parse(await readFile(file, 'utf8')))
  const panel = dashboard.panels.find((one) => one.title === title)
  const target = panel?.targets.find((one) => one.refId === refId)
  if (!target) throw new Error(`the fleet dashboard has no target ${refId} of "${title}"`)
  return target.expr
    .replaceAll('$job', 'chain-agent')
    .replaceAll('$instance', '.+')
    .replaceAll('$__range', `${seconds}s`)
    .replaceAll('$__rate_interval', '1m')
}

const targets = z.array(z.object({ refId: z.string(), expr: z.string() }))
const panels = z.array(z.object({ title: z.string(), targets: targets.default([]) }))
