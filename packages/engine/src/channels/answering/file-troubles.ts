import type { GuestFileTrouble } from '@lodge/ports';

/** Why a file does not pass, in a few words. */
export const fileTroubles: Readonly<Record<GuestFileTrouble, string>> = {
  not_there: 'it is not there',
  not_a_file: 'it is not a file',
  too_large: 'it is too large',
  disk_full: 'the disk is full',
  unavailable: 'it could not be reached',
};
