import { expect, test } from 'vitest'
import { FIRING, createDocument, HOUR, start } from './alertmanagers-run.ts'

test.for([HOUR, -HOUR])('a clock of the agent that is %i s ahead ends nothing and keeps nothing', async (ahead) => {
  const { sent, starts, fire, next } = await start({ ahead })
  fire('A')
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: -5 })
  fire()
  expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({})
  expect(sent).toHaveLength(4)
})

test.for([HOUR, -HOUR])(
  'the clock of the agent is set by %i s while an alert fires, and when it is over',
  async (by) => {
    const { starts, fire, setClock, next } = await start()
    fire('A', 'B')
    await next()
    setClock(by)
    expect(await next()).toEqual({ A: FIRING, B: FIRING })
    fire('B')
    setClock(0)
    expect(await next()).toEqual({ A: 45, B: FIRING })
    expect(starts.slice(1)).toEqual(Array.from({ length: 3 }, () => ({ A: -5, B: -5 })))
  },
)

test('the clock of the agent is set back between the evaluation and the post: no alert ends before it starts', async () => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  setClock(-HOUR, { isEvaluated: false })
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: 15 })
  await next()
  expect(starts.at(-1)).toEqual({ A: 15 })
})

test.for([HOUR, -HOUR])('an alert that Alertmanager has keeps its start if the clock is set by %i s', async (by) => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  await next()
  setClock(by, { isEvaluated: false })
  await next()
  expect(starts.at(-1)).toEqual({ A: -5 })
})

test('the end is sent again if the clock of Alertmanager was set back before it', async () => {
  const { starts, fire, setRemoteClock, next } = await start()
  fire('A')
  await next()
  fire()
  setRemoteClock(-HOUR)
  // The clock of Alertmanager shows 12:00:30 then.
  expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({ A: 30 - HOUR })
  expect(starts.at(-1)).toEqual({ A: 30 - HOUR })
  expect(await next()).toEqual({})
})

test('the clock of Alertmanager is set back while an alert fires: its start follows the rejection', async () => {
  const { starts, fire, setRemoteClock, answerWith, accept, next } = await start()
  fire('A')
  await next()
  setRemoteClock(-HOUR)
  answerWith(400, '"start time must be before end time"')
  await next()
  expect(starts.at(-1)).toEqual({ A: -5 })
  accept()
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: 45 - HOUR })
})

test.for([HOUR, -HOUR])('responses without a Date, an agent that is %i s ahead: no start is sent', async (ahead) => {
  const { starts, fire, next } = await start({ ahead, hasDate: false })
  fire('A')
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({})
  fire()
  // On the clock of the agent: there is no other.
  expect(await next()).toEqual({ A: 30 + ahead })
  expect(await next()).toEqual({})
})

test.for([HOUR, -HOUR])(
  'a restart after the clock of the host was set by %i s: what fires is no end',
  async (ahead) => {
    const checkpoint = createDocument()
    const before = await start({ checkpoint })
    before.fire('A')
    await before.next()
    const { starts, next } = await start({ after: 75, ahead, checkpoint })
    expect(await next()).toEqual({ A: FIRING })
    expect(starts).toEqual([{}, { A: -5 }])
    for (let at = 105; at < 255; at += 15) expect(await next()).toEqual({ A: FIRING })
    // It is over: no rule has found it again.
    expect(await next()).toEqual({ A: 255 })
  },
)
