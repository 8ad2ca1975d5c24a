import { compareSurfaces } from './surfaces.ts'

await compareSurfaces(0, 3)
