import { createQueryApi } from '../../query/service/api/api.ts'
import { apiServerOptions } from '../../query/service/api/limits.ts'
import { StoreError } from '../../query/store/errors.ts'
import { serveQuery } from '../../query/commands/serve-query/serve-query.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { serveEndpoint } from '../../simulator/endpoints.ts'
import { createInProcessExec, createInProcessHttp } from '../../simulator/commands/demo/fleet/in-process.ts'
import { loadScenario, parseScenario } from '../../simulator/scenario/scenario.ts'
import { chainFor, createSimulatedHost } from '../../simulator/simulator.ts'
import { startAgent } from '../../src/agent/agent.ts'
import { runCli } from '../../src/cli/program.ts'
import { openAnnouncements } from '../../src/commands/maintenance/action.ts'
import { changedKeys, loadConfig, readConfig } from '../../src/config/load.ts'
import { systemClock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import { createReloader } from '../../src/core/reload.ts'
import { addAgentRoutes, serve } from '../../src/exporter/server.ts'
import { createWeb, startWeb } from '../../src/exporter/web.ts'
import { createDiskUsage } from '../../src/sources/file-tree.ts'
import { createHttpClient, NoResponseError } from '../../src/sources/http.ts'
import { READER_GONE } from '../../src/terminal/io.ts'

/**
 * The entry `dist/testing.js` of the bundle, which no package contains: what tests start in their own process, on a clock of
 * their own, from the same chunks as dist/main.js. `test/support/shipped.ts` loads it.
 */
export const program = {
  NoResponseError,
  READER_GONE,
  SourceError,
  StoreError,
  addAgentRoutes,
  apiServerOptions,
  changedKeys,
  chainFor,
  createDiskUsage,
  createHttpClient,
  createInProcessExec,
  createInProcessHttp,
  createQueryApi,
  createQueryClient,
  createReloader,
  createSimulatedHost,
  createWeb,
  loadConfig,
  loadScenario,
  openAnnouncements,
  parseScenario,
  readConfig,
  renderConfig,
  runCli,
  serve,
  serveEndpoint,
  serveQuery,
  startAgent,
  startWeb,
  systemClock,
}
