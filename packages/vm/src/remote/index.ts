export { Channel, ChannelError } from './channel.ts';
export type { ChannelOptions, Message, Receiver } from './channel.ts';
export { KnownImages } from './known-images.ts';
export { createRemoteMachines } from './remote-machines.ts';
export type { RemoteMachines } from './remote-machines.ts';
export { serveMachines } from './serve.ts';
export type { MachinesToServe } from './serve.ts';
