import { expect, it } from 'vitest'
import { requireRealPart } from '../support/real-parts.ts'
import { probeStrace } from '../support/strace.ts'
import { secretOf, underWay } from './bench.ts'
import { createScene, expectSafe, type Scene, SCENES } from './scenes.ts'
import { runTraced, strikeAt, type Target } from './strike.ts'

const describe = await requireRealPart('strace', probeStrace)

/** What each call may well fail with. */
const ERRORS: Readonly<Record<string, string>> = {
  openat: 'EACCES',
  write: 'ENOSPC',
  mkdir: 'ENOSPC',
  fsync: 'EIO',
  link: 'EIO',
  rename: 'EIO',
  fchmod: 'EIO',
  fchown: 'EPERM',
  unlink: 'EIO',
  rmdir: 'EIO',
}

/** What could not be cleared away, or looked for to be counted or cleared away, stops nothing. */
const isBeside = ({ call, signature }: Target): boolean =>
  call === 'unlink' || call === 'rmdir' || /O_DIRECTORY|\.made/.test(signature)

/** The two types are one way: the kills take both after another, here each is taken once. */
const ROWS: readonly Scene[] = [
  ...SCENES.backup.map((scene) => ({ ...scene, argv: ['backup', '--type', 'secp'] })),
  ...SCENES.restore,
]

/** Some twenty runs a scene. */
const PATIENCE = 180_000

describe('a call that fails', () => {
  it.each(ROWS)(
    '$name: it is said, what was there stays, and nothing lies about',
    async (scene) => {
      const whole = await createScene(scene)
      const { targets } = await runTraced(whole.bench, scene.argv)
      expect(targets.length).toBeGreaterThan(10)
      await whole.bench.remove()
      const placed = targets.findIndex(({ call }) => call === 'rename')
      for (const [at, target] of targets.entries()) {
        // Of a folder that is there, nobody hears that there is no room for it.
        if (target.call === 'mkdir' && target.result !== '0') continue
        const error = ERRORS[target.call] ?? 'EIO'
        const { bench, before, ended } = await strikeAt(
          async () => createScene(scene),
          { argv: scene.argv, target, what: `error=${error}` },
          async (other) => expectSafe(other.bench, other.before),
        )
        const about = `${target.signature} ${error}: ${ended.stderr}`
        await expectSafe(bench, before)
        const after = await bench.look()
        expect(`${ended.stdout}${ended.stderr}`, about).not.toContain(secretOf('secp'))
        if (!isBeside(target)) {
          expect(ended.code, about).toBe(1)
          expect(ended.stderr, about).toMatch(/Could not [^\n]+: [^\n]+\n {2}what to do: [^\n]+/)
          expect(underWay(after), about).toEqual([])
        }
        // Before it has its place, everything is as it was; but for a second name of the old one.
        if (at <= placed && ended.code !== 0) {
          for (const [name, was] of Object.entries(before)) expect(after[name], about).toEqual(was)
        }
        await bench.remove()
      }
    },
    PATIENCE,
  )
})
