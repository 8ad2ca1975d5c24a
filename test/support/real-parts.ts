import { describe, expect, it } from 'vitest'
import { probeSandbox } from './sandbox.ts'

/** The newest of these versions, which come first; in the project `matrix` of vitest.config.ts, the others. */
export const versionsToTest = <Version>([newest, ...others]: readonly [Version, ...Version[]]): readonly Version[] =>
  process.env['VERSIONS'] === 'others' ? others : [newest]

/** What a probe found: the version of the part, or the reason why this machine does not have it. */
export type Probe = { readonly version: string } | { readonly missing: string }

export interface RealPart {
  readonly name: string
  readonly ran: boolean
  /** Its version, or the reason why it did not run. */
  readonly detail: string
}

declare module 'vitest' {
  interface TaskMeta {
    realPart?: RealPart
  }
}

/**
 * `describe` for a suite that needs a real part. Where the machine does not have it the suite is skipped and says why;
 * under CI that is a failure: a suite that quietly never runs is no suite. A probe may throw the reason.
 */
export const requireRealPart = async (
  name: string,
  probe: () => Promise<Probe> | Probe,
): Promise<typeof describe | typeof describe.skip> => {
  const part = await judge(name, probe)
  it(`the machine has the real part: ${name}`, ({ task, skip }) => {
    task.meta.realPart = part
    skip(!part.ran && !process.env['CI'], part.detail)
    expect(part.ran, `${name} must run where CI is set: ${part.detail}`).toBe(true)
  })
  return part.ran ? describe : describe.skip
}

/** `describe` for a suite with a real systemd. */
export const requireSandbox = async () => requireRealPart('sandbox', probeSandbox)

const judge = async (name: string, probe: () => Promise<Probe> | Probe): Promise<RealPart> => {
  try {
    const found = await probe()
    return 'version' in found ? { name, ran: true, detail: found.version } : { name, ran: false, detail: found.missing }
  } catch (error) {
    return { name, ran: false, detail: String(error) }
  }
}
