import { type Clock } from '../../../core/clock.ts'
import { minute, second } from '../../../core/units.ts'
import { Refusal } from './refusal.ts'

type Headers = Readonly<Record<string, string>>

/** Takes one request out of the budget of whoever asks, and tells what is left. Throws where nothing is. */
export type Budgets = (name: string) => Headers

interface BudgetOptions {
  readonly perMinute: number | null
  readonly clock: Clock
  /** Who came first is forgotten when more than this have come within a minute. */
  readonly most?: number
}

interface Spent {
  readonly until: number
  requests: number
}

const MOST = 10_000
const COST = 1

/** A budget for each minute, which begins with a name's first request. */
export const createBudgets = ({ perMinute, clock, most = MOST }: BudgetOptions): Budgets => {
  const budgets = new Map<string, Spent>()
  const open = (name: string, now: number): Spent => {
    const current = budgets.get(name)
    if (current && current.until > now) return current
    budgets.delete(name)
    // In the order in which they began: the oldest come first.
    for (const [other, { until }] of budgets) {
      if (until > now && budgets.size < most) break
      budgets.delete(other)
    }
    const fresh = { until: now + minute, requests: 0 }
    budgets.set(name, fresh)
    return fresh
  }
  return (name) => {
    if (perMinute === null) return {}
    const now = clock.elapsed()
    const budget = open(name, now)
    const isSpent = budget.requests + COST > perMinute
    if (!isSpent) budget.requests += COST
    const reset = String(Math.ceil((budget.until - now) / second))
    const headers = {
      'x-ratelimit-limit': String(perMinute),
      'x-ratelimit-remaining': String(perMinute - budget.requests),
      'x-ratelimit-reset': reset,
      'x-ratelimit-cost': String(COST),
    }
    if (!isSpent) return headers
    throw new Refusal('rate_limited', `more than ${perMinute} requests within a minute`, {
      headers: { ...headers, 'retry-after': reset },
    })
  }
}
