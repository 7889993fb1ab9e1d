import type { GuestFileTrouble } from '@lodge/ports';

/** Says in a few words why a file was not passed on. */
export const fileTroubles: Readonly<Record<GuestFileTrouble, string>> = {
  not_there: 'it is not there',
  not_a_file: 'it is not a file',
  too_large: 'it is too large',
  disk_full: 'the disk is full',
  unavailable: 'it could not be reached',
};
