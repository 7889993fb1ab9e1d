export { BackupError } from './errors.ts';
export { openRepository } from './repository.ts';
export type { Repository } from './repository.ts';
export { chunkNames, fits, readChunks, storeFile, storeText, writeFileBack, writtenBytes } from './streams.ts';
export type { ChunkList, FileFacts, StoredFile } from './streams.ts';
