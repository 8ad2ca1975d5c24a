/** A moment to the second: `2026-05-02T08:01:00Z`. */
export const iso = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`
