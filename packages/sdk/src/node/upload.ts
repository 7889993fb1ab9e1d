import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Upload } from '../http/upload.ts';
import type { Lodge } from '../lodge.ts';
import type { IfMatch } from '../options.ts';
import type { AgentFile } from '../types.ts';
import type { TransferOptions } from './options.ts';

/** Writes a local file into an agent's workspace, as a stream. After a cut it is sent again as a whole. */
export async function uploadFile(
  lodge: Lodge,
  agentId: string,
  local: string,
  remote: string,
  { onProgress, ...options }: TransferOptions & IfMatch & { readonly isNew?: boolean | undefined } = {},
): Promise<AgentFile> {
  const { size } = await stat(local);
  const source = (): ReadableStream<Uint8Array> => Readable.toWeb(createReadStream(local));
  return lodge.files.upload(agentId, remote, new Upload(source, { onProgress, size }), options);
}
