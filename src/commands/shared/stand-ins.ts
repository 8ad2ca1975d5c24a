import type { Exec } from '../../sources/exec.ts'
import type { SendRequest } from '../../sources/http.ts'

/** Who runs programs and asks over HTTP, where it is not the host: in a rehearsal. */
export interface StandIns {
  readonly exec?: Exec
  readonly ask?: SendRequest
}
