import { z } from 'zod'
import { parseDuration, second } from '../../core/units.ts'

export type Labels = Readonly<Record<string, string>>

/** The times of a group of alerts, in milliseconds. */
export interface GroupTimes {
  /** From the first alert of a group to its first notification. */
  readonly wait: number
  /** To the next notification, if an alert is added to the group after that. */
  readonly interval: number
}

interface Route {
  readonly receiver?: string | undefined
  readonly group_wait?: string | undefined
  readonly group_interval?: string | undefined
  readonly matchers?: readonly string[] | undefined
  readonly match?: Labels | undefined
  readonly match_re?: Labels | undefined
  readonly continue?: boolean | undefined
  readonly routes?: readonly Route[] | undefined
}

const labels = z.record(z.string(), z.string())

/** A route in the configuration that Alertmanager reports. */
export const routeSchema: z.ZodType<Route> = z.object({
  receiver: z.string().optional(),
  group_wait: z.string().optional(),
  group_interval: z.string().optional(),
  matchers: z.array(z.string()).optional(),
  match: labels.optional(),
  match_re: labels.optional(),
  continue: z.boolean().optional(),
  get routes() {
    return z.array(routeSchema).optional()
  },
})

/** The defaults of Alertmanager. */
const DEFAULT: GroupTimes = { wait: 30 * second, interval: 300 * second }

/** The longest times of the routes of these labels that lead to the receiver. */
export const groupTimes = (root: Route, alert: Labels, receiver: string): GroupTimes => {
  const times = routesOf(root, alert, { receiver: '', ...DEFAULT }).filter((route) => route.receiver === receiver)
  if (times.length === 0) return DEFAULT
  return {
    wait: Math.max(...times.map(({ wait }) => wait)),
    interval: Math.max(...times.map(({ interval }) => interval)),
  }
}

type Inherited = GroupTimes & { readonly receiver: string }

/** As Alertmanager does: the first route of a level that matches, and the next ones while `continue` is set. */
const routesOf = (route: Route, alert: Labels, parent: Inherited): readonly Inherited[] => {
  const own: Inherited = {
    receiver: route.receiver ?? parent.receiver,
    wait: parseDuration(route.group_wait ?? '') ?? parent.wait,
    interval: parseDuration(route.group_interval ?? '') ?? parent.interval,
  }
  const matched: Inherited[] = []
  for (const child of route.routes ?? []) {
    if (!isMatch(child, alert)) continue
    matched.push(...routesOf(child, alert, own))
    if (child.continue !== true) break
  }
  return matched.length === 0 ? [own] : matched
}

const MATCHER = /^\s*"?([^"=!~\s]+)"?\s*(=~|!~|!=|=)\s*(.*?)\s*$/s

const isMatch = ({ matchers = [], match = {}, match_re: patterns = {} }: Route, alert: Labels): boolean =>
  matchers.every((matcher) => {
    const [, name = '', operator = '', text = ''] = MATCHER.exec(matcher) ?? []
    const value = unquote(text)
    const isEqual = operator.endsWith('~') ? isPattern(value, alert[name]) : (alert[name] ?? '') === value
    return isEqual !== operator.startsWith('!')
  }) &&
  Object.entries(match).every(([name, value]) => (alert[name] ?? '') === value) &&
  Object.entries(patterns).every(([name, value]) => isPattern(value, alert[name]))

const unquote = (text: string): string => {
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}

/** A pattern of RE2 that JavaScript does not have matches nothing. */
const isPattern = (pattern: string, value = ''): boolean => {
  try {
    return new RegExp(`^(?:${pattern})$`, 's').test(value)
  } catch {
    return false
  }
}
