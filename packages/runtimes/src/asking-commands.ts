/**
 * Whether the runtime in a guest asks the host before commands and changes of files. Its plugin in the image reads this file with
 * each of them, so a guest whose owner has no rules for commands asks nothing.
 */
import { keepRootFile } from './root-file.ts';
import type { RootFiles } from './root-file.ts';

export const askingFile = '/etc/lodge/confirm.json';

/** The part of a runtime's `inGuest`. Nothing without rules, so that other agents' digests stay as they were. */
export const askingInGuest = (asksBeforeCommands: boolean): { readonly asksBeforeCommands?: true } =>
  asksBeforeCommands ? { asksBeforeCommands } : {};

export const applyAsking = (guest: RootFiles, asksBeforeCommands: boolean, signal: AbortSignal): Promise<void> => {
  const wanted = `${JSON.stringify({ commands: asksBeforeCommands })}\n`;
  return keepRootFile(guest, { path: askingFile, wanted, isNone: !asksBeforeCommands }, signal);
};
