import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

// Values after the 60th second, of which the scenarios have golden metrics.
test.each([
  // 400 lost packets a second, from the 130th second to the 240th.
  ['host-slow', 242, 'chain_host_network_drops_total{device="enp1s0",kind="missed"} 44000'],
  ['fd-limit', 100, 'chain_service_open_file_descriptors{service="bft"} 990'],
  ['bad-kernel', 200, 'chain_host_kernel_blocked{kernel="running"} 1'],
  ['nvme-failing', 150, 'chain_host_nvme_used_ratio{device="nvme0"} 0.98'],
  ['clock-drift', 160, 'chain_host_clock_synchronized 0'],
  ['clock-drift', 240, 'chain_host_clock_offset_seconds -0.04'],
])('%s, second %i: %s', async (scenario, second, series) => {
  const host = await openHost({ scenario, second: 0 })
  await host.pass(second)
  await host.pass(16)
  expect((await host.page('/metrics')).split('\n')).toContain(series)
})
