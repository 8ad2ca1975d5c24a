import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type Clock } from '../../core/clock.ts'
import { minute } from '../../core/units.ts'

/** A new address of the host is seen only by new connections. */
const RENEWED_AFTER = minute

/** Connections that are kept open, and given up after a minute. */
export const createPool = (protocol: string, clock: Clock) => {
  const create = () => ({
    agent: new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true }),
    born: clock.elapsed(),
    users: 0,
  })
  let current = create()
  return {
    take: () => {
      if (clock.elapsed() - current.born >= RENEWED_AFTER) {
        const old = current
        current = create()
        if (old.users === 0) old.agent.destroy()
      }
      const mine = current
      mine.users += 1
      return {
        agent: mine.agent,
        release: (): void => {
          mine.users -= 1
          if (mine.users === 0 && mine !== current) mine.agent.destroy()
        },
      }
    },
  }
}
