export { ObjectStorage } from './server.ts';
