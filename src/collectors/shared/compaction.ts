/** From this use on the node shortens its history by itself: constant in every version of it. */
export const COMPACTION_THRESHOLD = 0.8
