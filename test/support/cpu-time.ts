/** Milliseconds of CPU of this process since `begun`: what else runs on the machine does not count. */
export const cpuMsSince = (begun: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}
