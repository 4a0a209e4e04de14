/** The path to which browsers send reports, below the base path. */
export const REPORTS_PATH = "browser-reports";
