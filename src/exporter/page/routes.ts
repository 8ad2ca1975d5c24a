import type { Request } from 'express'
import { type Event, SEVERITIES } from '../../domain/event.ts'
import { bodyOf, pageAssets } from './assets.ts'
import { type Add, addAssets, sendBody, sendPage } from './document.ts'
import type { StatusPage } from './page.ts'
import { createRunbookPages, readSeverity, renderEventsPage, type RunbookSource } from './pages.ts'

/** What the pages show. None of the functions reads from the node. */
export interface PagesView {
  readonly version: string
  readonly page: StatusPage
  readonly runbooks: RunbookSource
  /** The name prefix of units and tools. */
  prefix(): string
  /** The stored state changes, oldest first. */
  events(): Promise<readonly Event[]>
}

export const addPages = (add: Add, view: PagesView): void => {
  const { version, page } = view
  const runbookPage = createRunbookPages(view.runbooks, version, view.prefix)
  const queryOf = ({ url }: Request) => new URL(url, 'http://agent').searchParams

  add('/', async (request, response) => {
    const { etag, ...body } = await page.document()
    response.set('ETag', etag)
    if (request.get('If-None-Match') === etag) response.status(304).end()
    else await sendPage(request, response, body)
  })
  add('/events', async (request, response) => {
    const severity = readSeverity(queryOf(request))
    if (severity === undefined) response.status(400).type('text').send(NO_SEVERITY)
    else await sendPage(request, response, bodyOf(renderEventsPage(version, await view.events(), severity)))
  })
  add('/runbooks', async (request, response) => {
    const text = await runbookPage('index')
    await sendPage(request, response, bodyOf(text ?? ''))
  })
  add('/runbooks/:name', async (request, response) => {
    const text = await runbookPage(String(request.params['name']))
    if (text === undefined) response.status(404).type('text').send(NO_RUNBOOK)
    else await sendPage(request, response, bodyOf(text))
  })
  addAssets(add)

  const { openApi } = pageAssets()
  add(openApi.path, (request, response) => sendBody(request, response, openApi))
  add('/api/v1/overview', async (_request, response) => {
    response.json(await page.overview())
  })
}

const NO_SEVERITY = `severity: expected one of ${SEVERITIES.join(', ')}\n`
const NO_RUNBOOK = 'No such runbook; /runbooks/ lists them.\n'
