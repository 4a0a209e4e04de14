/** The path to which browsers send reports. */
export const REPORTS_PATH = "/browser-reports";
