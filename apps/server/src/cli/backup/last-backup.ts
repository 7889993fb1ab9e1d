/** For `npm run doctor`: when the last backup was made, and where. In the data folder. */
export const lastBackupName = 'last-backup.json';
