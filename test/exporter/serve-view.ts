import { onTestFinished } from 'vitest'
import { NO_WEB_CONFIG } from '../../src/config/web-config.ts'
import type { AgentView } from '../../src/exporter/server.ts'
import { agentView } from '../support/agent-view.ts'
import { shipped } from '../support/shipped.ts'

const { createWeb, serve } = shipped

export const web = createWeb({ config: NO_WEB_CONFIG, hosts: [], complain: () => undefined })

/** Serves a view of the agent until the end of the test. Returns the port. */
export const serveView = async (own: Partial<AgentView> = {}): Promise<number> => {
  const server = await serve(agentView(own), { host: '127.0.0.1', port: 0 }, web)
  onTestFinished(server.close)
  return server.address.port
}

/** The same. Returns how it is asked. */
export const askView = async (own: Partial<AgentView> = {}) => {
  const port = await serveView(own)
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
}
