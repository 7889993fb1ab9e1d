export { CrookedDoor } from './crooked-door.ts';
export { ObjectStorage } from './server.ts';
