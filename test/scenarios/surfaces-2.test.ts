import { compareSurfaces } from './surfaces.ts'

await compareSurfaces(1, 3)
