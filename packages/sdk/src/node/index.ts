export { downloadFile } from './download.ts';
export { downloadFolder, uploadFolder } from './folders.ts';
export { exportAgent, importAgent } from './portable.ts';
export { uploadFile } from './upload.ts';
export type { FolderOptions, FolderProgress, FolderResult, TransferOptions } from './options.ts';
