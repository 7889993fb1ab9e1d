/** Files between the reader's machine and the agent's workspace. */
import { change, lodge, read } from '../../../api.ts';
import { saveFile } from '../../../components/save-file.ts';
import { newId } from './conversation.ts';
import type { SentFile } from './conversation.ts';

/** The largest file that the API takes in one request. */
export const maxFileBytes = 64 * 1024 * 1024;
export const maxFiles = 20;
const maxNameChars = 80;

/** Puts a file into a folder of its own, so that it replaces none. */
export async function upload(agentId: string, file: File): Promise<SentFile> {
  const path = `uploads/${newId()}/${safeName(file.name)}`;
  await change(() => lodge.files.write(agentId, path, file, { query: { wake: true } }));
  return { path, name: file.name };
}

/** Saves a file of the workspace on the reader's machine. */
export async function download(agentId: string, path: string): Promise<void> {
  const content = await read(lodge.files.read(agentId, path, { query: { wake: true } }));
  const bytes = await read(content.bytes());
  // A page of the workspace must not open here, whatever its name says that it is.
  saveFile(path.split('/').at(-1) ?? 'file', new Blob([bytes], { type: 'application/octet-stream' }));
}

/** A name that is one word in a message, and that every folder takes. */
function safeName(name: string): string {
  const made = name
    .slice(-maxNameChars)
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{N}._-]/gu, '_');
  return made === '' || made.startsWith('.') ? `_${made}` : made;
}
