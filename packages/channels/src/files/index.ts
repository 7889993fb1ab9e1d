export { createChannelFiles } from './channel-files.ts';
