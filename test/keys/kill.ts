import { expect } from 'vitest'
import { underWay } from './bench.ts'
import { keysHere } from './here.ts'
import { createScene, endState, expectSafe, type Scene } from './scenes.ts'
import { runTraced, strikeAt, type Target } from './strike.ts'

/** Kills a command at each of its calls on the node's files, one run a call. Answers how many there are. */
export const killEverywhere = async (scene: Scene): Promise<number> => {
  const { targets, end } = await undisturbed(scene)
  for (const target of targets) {
    expect(await kill(scene, target), target.signature).toEqual(end)
  }
  return targets.length
}

/** What it calls, and what it leaves. */
const undisturbed = async (scene: Scene) => {
  const { bench, before } = await createScene(scene)
  const { ended, targets } = await runTraced(bench, scene.argv)
  expect(ended, ended.stderr).toMatchObject({ code: 0 })
  await expectSafe(bench, before)
  const end = await endState(bench)
  await bench.remove()
  return { targets, end }
}

/** Killed as it enters the call: it is not made, and nothing after it. */
const kill = async (scene: Scene, target: Target) => {
  const { bench, before, ended } = await strikeAt(
    async () => createScene(scene),
    { argv: scene.argv, target, what: 'signal=SIGKILL' },
    async (other) => expectSafe(other.bench, other.before),
  )
  expect(ended).toMatchObject({ signal: 'SIGKILL' })
  await expectSafe(bench, before)
  const left = underWay(await bench.look())
  // The next look says where what was under way lies, and that the key is still had.
  const verified = await keysHere(bench, ['verify', '--files-only', '--json'])
  for (const name of left) expect(verified.out).toContain(`${bench.folder}/${name}`)
  const again = await keysHere(bench, scene.argv)
  expect(again, again.err).toMatchObject({ code: 0 })
  await expectSafe(bench, before)
  const end = await endState(bench)
  await bench.remove()
  return end
}
