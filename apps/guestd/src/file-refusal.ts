import { Refusal, systemCode } from './errors.ts';

const notAFolder = [409, 'a part of the path is not a folder, or is a symbolic link'] as const;
const notAFile = [409, 'path is not a regular file'] as const;
const full = [507, "the guest's disk is full"] as const;
const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ENOENT: [404, 'no such file'],
  ENOTDIR: notAFolder,
  ELOOP: notAFolder,
  EISDIR: notAFile,
  ENXIO: notAFile,
  EEXIST: [409, 'something of another kind is at the path'],
  ENOTEMPTY: [409, 'the folder is not empty'],
  ENAMETOOLONG: [400, 'a part of the path is too long'],
  ENOSPC: full,
  EDQUOT: full,
};

/** What the host is told of a system call that failed; other errors stay as they are. */
export function fileRefusal(error: unknown): unknown {
  const refusal = refusals[systemCode(error) ?? ''];
  return refusal ? new Refusal(...refusal) : error;
}
