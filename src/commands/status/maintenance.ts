import { maintenanceWindow } from '../../health/facts.ts'
import { fact, momentFact } from './fact.ts'
import { type Section, summary, type View } from './section.ts'
import { shape, word } from './shapes.ts'

const now = (view: View) => maintenanceWindow(view.snapshot)

/** That none is announced is known where the collector has looked. */
const hasLooked = (view: View): boolean => view.hasTold('maintenance')

export const maintenance: Section = {
  name: 'maintenance',
  about: 'what is announced, and until when',
  groups: [
    {
      from: 'maintenance',
      by: 'what the operator has announced',
      facts: (view) => {
        const found = now(view)
        const { note } = view.reading('maintenance', shape({ note: word }))
        return [
          fact('announced', hasLooked(view) ? found !== undefined : null),
          ...(found
            ? [
                fact('reason', found.reason),
                momentFact('until', found.until, { now: view.at }),
                fact('note', note, { otherwise: 'none' }),
              ]
            : []),
        ]
      },
    },
  ],
  summary: (view) => {
    const found = now(view)
    if (found) return summary(`${found.reason}, ${found.left} left`, 'notice')
    return hasLooked(view) ? summary('none') : null
  },
}
