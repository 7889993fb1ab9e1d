import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Upload } from '../http/upload.ts';
import type { Lodge } from '../lodge.ts';
import type { AgentFile } from '../types.ts';
import { maxWholeBytes, uploadInParts } from './parts.ts';
import type { PartOptions } from './parts.ts';

/**
 * Writes a local file of up to 64 GiB into an agent's workspace, whole or not at all. After a cut a small file is sent again
 * as a whole, and one of more than 64 MiB goes on where it was, also in the next call.
 */
export async function uploadFile(
  lodge: Lodge,
  agentId: string,
  local: string,
  remote: string,
  { onProgress, ...options }: PartOptions = {},
): Promise<AgentFile> {
  const { size } = await stat(local);
  if (size > maxWholeBytes) return uploadInParts(lodge, agentId, local, remote, { onProgress, ...options });
  const source = (): ReadableStream<Uint8Array> => Readable.toWeb(createReadStream(local));
  return lodge.files.upload(agentId, remote, new Upload(source, { onProgress, size }), options);
}
