import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Engine, startEngine } from '../../../test/dashboards/engine.ts'
import { committed, dashboardSchema } from '../../../test/dashboards/model.ts'
import { type Camera, openCamera } from './camera.ts'
import { beginning, cut } from './cut.ts'
import { DOCUMENTED, DRAWN, markOf } from './drawn.ts'
import { sceneOf } from './scene.ts'

const IMAGES = fileURLToPath(new URL('../../../docs/images', import.meta.url))
/** Always the same, so that a picture changes only where what it shows does. In seconds since the epoch. */
const NOW = Date.UTC(2026, 5, 1, 12, 10) / 1000
const THEMES = ['dark', 'light'] as const

const drawAll = async (camera: Camera, engine: Engine): Promise<void> => {
  await mkdir(IMAGES, { recursive: true })
  const marks: Record<string, string> = {}
  for (const [name, json] of committed()) {
    if (!DOCUMENTED.includes(name)) continue
    const { panels, ...scene } = await sceneOf(dashboardSchema.parse(json), engine)
    const parts = cut(panels).map((part, index) => ({
      file: index === 0 ? name : `${name}-${index + 1}`,
      part,
    }))
    if (name === 'node') parts.push({ file: 'node-glance', part: [...beginning(panels)] })
    for (const { file, part } of parts) {
      for (const theme of THEMES) {
        const picture = await camera.shoot({ ...scene, theme, panels: part })
        await writeFile(join(IMAGES, `${file}-${theme}.png`), picture)
        console.log(`docs/images/${file}-${theme}.png ${Math.ceil(picture.length / 1000)} kB`)
      }
    }
    marks[name] = markOf(json)
  }
  await writeFile(join(IMAGES, DRAWN), `${JSON.stringify(marks, null, 2)}\n`)
}

/** The nodes of the history, by what is wrong with them. */
const FAULTS = {
  healthy: 'validator-1',
  stalled: 'fullnode-5',
  'service-crash': 'fullnode-6',
  'storage-filling': 'fullnode-1',
  statesync: 'fullnode-2',
  'own-timeouts': 'validator-2',
}
const SCREEN = 900

/** The first screen of every dashboard for each fault, for a review: these pictures are not kept. */
const drawFaults = async (camera: Camera, engine: Engine, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (const [fault, instance] of Object.entries(FAULTS)) {
    for (const [name, json] of committed()) {
      const { panels, ...scene } = await sceneOf(dashboardSchema.parse(json), engine, instance)
      const shown = panels.filter(({ gridPos: { y } }) => y < 23)
      const picture = await camera.shoot({ ...scene, theme: 'dark', panels: shown }, SCREEN)
      await writeFile(join(folder, `${name}-${fault}.png`), picture)
      console.log(`${name}-${fault}.png`)
    }
  }
}

/** The folder for the pictures of faults; without it the pictures of the documentation are drawn. */
const [, , folder] = process.argv
const camera = await openCamera()
try {
  const engine = await startEngine(NOW)
  try {
    await (folder === undefined ? drawAll(camera, engine) : drawFaults(camera, engine, folder))
  } finally {
    await engine.stop()
  }
} finally {
  await camera.close()
}
