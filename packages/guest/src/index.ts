export * from './credential.ts';
export * from './dial.ts';
export * from './frames.ts';
export * from './protocol.ts';
export * from './client.ts';
export * from './lay-tree.ts';
