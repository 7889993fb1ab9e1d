export { createImageBuilder, type ImageBuilderOptions } from './builder.ts';
export { ImageError } from './errors.ts';
export { hostTools, type HostTool } from './requirements.ts';
