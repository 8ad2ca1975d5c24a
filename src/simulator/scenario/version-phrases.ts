import type { Argument } from './arguments.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'
import { endService, startService, type Service } from './service.ts'
import type { Versions } from './versions.ts'

const versions =
  (change: (versions: Versions, atMs: number) => Partial<Versions>): Effect =>
  (condition, atMs) => ({
    ...condition,
    versions: { ...condition.versions, ...change(condition.versions, atMs) },
  })

const versionNumber: Argument<string> = {
  expected: 'a version such as 0.17.0',
  read: (text) => (/^\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[a-z]+\d*)?$/.test(text) ? text : undefined),
}

const again = (service: Service, atMs: number): Service =>
  startService(endService(service, { atMs, code: 'exited', status: 0, asked: true }), atMs)

/** What is installed, what runs, and what is said of it. */
export const versionPhrases: readonly Phrase[] = [
  phrase(
    {
      subject: 'package',
      verb: 'was',
      means: 'that version has been installed, and running, all the time',
    },
    versionNumber,
    (version) => versions(() => ({ installs: [{ fromMs: -Infinity, version }] })),
  ),
  phrase(
    {
      subject: 'package',
      verb: 'upgraded',
      means: 'that version is installed, and runs in each service once that is started anew',
    },
    versionNumber,
    (version) =>
      versions(({ installs }, fromMs) => ({ installs: [...installs, { fromMs, version }] })),
  ),
  bare(
    {
      subject: 'node',
      verb: 'restarts',
      means: 'somebody restarts consensus, execution and RPC together',
    },
    (condition, atMs) => {
      const { bft, execution, rpc, ...others } = condition.services
      const started = {
        bft: again(bft, atMs),
        execution: again(execution, atMs),
        rpc: again(rpc, atMs),
      }
      return { ...condition, services: { ...others, ...started } }
    },
  ),
  bare(
    { subject: 'version', verb: 'hides', means: 'the RPC tells its name without a version' },
    versions(() => ({ hidden: true })),
  ),
  bare(
    { subject: 'version', verb: 'shows', means: 'the RPC tells its version again' },
    versions(() => ({ hidden: false })),
  ),
]
