/** The main processes of the services, as systemd told them last. */
export interface MainPids {
  /** Service → process; a service that does not run is left out. */
  get(): ReadonlyMap<string, number>
  /** An empty map, too, where systemd could not be asked: the kernel gives a number to others again. */
  learn(pids: ReadonlyMap<string, number>): void
}

export const createMainPids = (): MainPids => {
  let known: ReadonlyMap<string, number> = new Map()
  return {
    get: () => known,
    learn: (pids) => {
      known = pids
    },
  }
}
